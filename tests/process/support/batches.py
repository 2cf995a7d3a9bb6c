"""Batches that `echoline read --ids` prints, in forms that tests compare."""


def valid_rows(batch):
    """The batch's rows without padding: (sample id, use, checksum of each field)."""
    count = batch.get("valid_rows", len(batch["sample_ids"]))
    checksums = batch.get("row_checksums", {})
    rows = zip(batch["sample_ids"], batch["uses"], *checksums.values(), strict=True)
    return list(rows)[:count]


def joined(parts):
    """The batches of ranks 0..W-1 at one step, as one batch."""
    if len({(part["epoch"], part["step"]) for part in parts}) != 1:
        raise RuntimeError("the ranks are at different steps: "
                           f"{[(part['epoch'], part['step']) for part in parts]}")
    return {"epoch": parts[0]["epoch"], "step": parts[0]["step"],
            "rows": [row for part in parts for row in valid_rows(part)],
            "fresh": sum(part["fresh"] for part in parts)}


def whole(batches):
    """The batches of a single rank in the form of joined()."""
    return [joined([batch]) for batch in batches]


def rows_of(batches):
    """(epoch, sample id, use, checksums) of all rows in order."""
    return [(batch["epoch"], *row) for batch in batches for row in valid_rows(batch)]

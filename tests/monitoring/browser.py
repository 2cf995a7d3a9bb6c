"""Loads a page in a headless Chromium: its document, console lines, requested addresses, picture."""
import json
import pathlib
import re
import subprocess
import tempfile

import queries

SECONDS = 120  # for a browser to start on a busy machine


class Look:
    """`document` is the page's HTML after some seconds of its scripts, `said` its console lines, `asked` the requested
    addresses."""

    def __init__(self, url, width=1280, height=900, scripts_ms=6000, dark=False, picture=None):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "net.json")
            command = [queries.program("chromium-headless-shell"), "--no-sandbox", "--disable-gpu",
                       f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
                       f"--virtual-time-budget={scripts_ms}", f"--log-net-log={log}", "--enable-logging=stderr",
                       *(["--blink-settings=preferredColorScheme=0"] if dark else []),
                       f"--screenshot={picture}" if picture else "--dump-dom", url]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
            events = re.findall(r'"url":("(?:[^"\\]|\\.)*")', log.read_text(encoding="utf-8"))
        self.document = done.stdout
        self.said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.asked = {json.loads(url) for url in events}

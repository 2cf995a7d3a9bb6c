"""A job that a training framework resumes continues with exactly the next batch. Each test is skipped where its package is
missing; docs/trainers.md says which versions were tried."""
import importlib
import json
import logging
import pathlib
import tempfile
import unittest
import warnings

from ring_server import RingServer

try:
    import torch
    import echoline.torch
except ImportError as error:
    raise unittest.SkipTest(f"no torch: {error}") from error

EPOCH = list(range(0, 40, 4))  # the first label of each batch


class Resumes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(warnings.catch_warnings(action="ignore"))
        self.seen = []

    def package(self, name):
        try:
            package = importlib.import_module(name)
        except ImportError as error:
            self.skipTest(f"no {name}: {error}")
        for logger in (name, "lightning.pytorch"):
            logging.getLogger(logger).setLevel(logging.ERROR)
        return package

    def loader(self, **options):
        """On a daemon of its own: a trainer that starts again meets another one."""
        return echoline.torch.Loader("train", runtime_dir=self.enterContext(RingServer()).dir, **options)

    def note(self, label):
        self.seen.append(int(label[0]) % 1_000_000)  # labels of RingServer have the epoch before

    def test_lightning_resumes_within_an_epoch(self):
        lightning = self.package("lightning")
        test = self

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(105, 1)

            def train_dataloader(self):
                return test.loader()

            def training_step(self, batch, index):
                test.note(batch["label"])
                return self.layer(batch["image"].flatten(1) / 255).mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.01)

        def fit(**options):
            callback = lightning.pytorch.callbacks.ModelCheckpoint(self.folder, "at-{step}", every_n_train_steps=13,
                                                                   save_top_k=-1)
            path = options.pop("ckpt_path", None)
            lightning.Trainer(accelerator="cpu", logger=False, enable_progress_bar=False, callbacks=[callback],
                              enable_model_summary=False, **options).fit(Model(), ckpt_path=path)

        fit(max_steps=15)
        self.assertEqual(self.seen, EPOCH + EPOCH[:5])
        self.seen.clear()
        fit(max_epochs=3, ckpt_path=self.folder / "at-step=13.ckpt")
        self.assertEqual(self.seen, EPOCH[3:] + EPOCH)

    def test_accelerate_resumes_within_an_epoch(self):
        accelerate = self.package("accelerate")
        for begin in (0, 3):
            accelerator = accelerate.Accelerator(cpu=True)
            loader = self.loader(fields=("label",))
            accelerator.register_for_checkpointing(loader)
            if begin:
                accelerator.load_state(self.folder)
            for step, (label,) in enumerate(loader, begin):
                self.note(label)
                if step == 2:
                    accelerator.save_state(self.folder)
                    break
        self.assertEqual(self.seen, EPOCH)

    def test_the_hugging_face_trainer_resumes_within_an_epoch(self):
        transformers = self.package("transformers")
        test = self

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(105, 1)

            def forward(self, image, labels):
                test.note(labels)
                return {"loss": self.layer(image.flatten(1) / 255).mean()}

        class KeepPosition(transformers.TrainerCallback):
            def on_save(self, args, state, control, train_dataloader=None, **_):
                path = pathlib.Path(args.output_dir, f"checkpoint-{state.global_step}", "loader.json")
                path.write_text(json.dumps(train_dataloader.state_dict()), encoding="utf-8")

        class Trainer(transformers.Trainer):
            position = None

            def get_train_dataloader(self):
                return test.loader(fields={"image": "image", "label": "labels"}, state=self.position)

        args = transformers.TrainingArguments(self.folder, num_train_epochs=2, use_cpu=True, save_steps=13, report_to="none",
                                              ignore_data_skip=True, disable_tqdm=True, logging_steps=1000)
        Trainer(Model(), args, callbacks=[KeepPosition()]).train()
        self.assertEqual(self.seen, EPOCH + EPOCH)
        self.seen.clear()
        trainer = Trainer(Model(), args, callbacks=[KeepPosition()])
        trainer.position = json.loads((self.folder / "checkpoint-13" / "loader.json").read_text(encoding="utf-8"))
        trainer.train(resume_from_checkpoint=str(self.folder / "checkpoint-13"))
        self.assertEqual(self.seen, EPOCH[3:])


if __name__ == "__main__":
    unittest.main(verbosity=1)

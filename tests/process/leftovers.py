"""What a daemon may leave behind when it has ended: nothing but its state folder."""
import os


def shared_memory():
    """What could be the daemon's there; other programs of the machine come and go."""
    return {name for name in os.listdir("/dev/shm") if "echoline" in name}


def check_nothing_left(test, daemon, shared_before):
    """Ends the daemon in order; `shared_before` is what shared_memory() said before its start."""
    test.assertEqual(daemon.stop(), 0, daemon.log())
    test.assertEqual(os.listdir(daemon.runtime_dir) if daemon.runtime_dir.exists() else [], [])
    test.assertLessEqual(shared_memory(), shared_before)

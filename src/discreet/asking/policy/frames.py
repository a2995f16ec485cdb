"""Another frame under a name that is known: noticed by the object, never by its values.

Stored answers belong to a data set's id and version. Whoever opens a second frame under the same name gets
the answers of the first; that is said once, and the remedy.

Tested by: tests/tables/test_frames.py
"""

import warnings
import weakref
from collections.abc import Callable, Mapping

_opened: dict[tuple[str, str, str, str], Callable[[], object]] = {}


class FrameWarning(UserWarning):
    """A frame was opened under the name, version and ledger of another one."""


def notice_frames(ledger: str, dataset: str, version: str, frames: Mapping[str, object]) -> None:
    """Warn of each frame that is not the object which this process opened as the same table before."""
    for table, frame in frames.items():
        place = (ledger, dataset, version, table)
        before = _opened.get(place)
        if before is not None and before() is not frame:
            warnings.warn(
                f"frame {table!r} must be the one that was opened by this name before, got another object. "
                "Answers stored before are of the first one: state version= for new data, or another name "
                "for other data; if it is the same data read again, all is well.",
                FrameWarning,
                stacklevel=4,
            )
        _opened[place] = _remember(frame)


def _remember(frame: object) -> Callable[[], object]:
    try:
        return weakref.ref(frame)
    except TypeError:  # an object that cannot be watched is kept
        return lambda: frame

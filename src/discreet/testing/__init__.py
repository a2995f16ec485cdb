"""What tests of discreet, and of code that uses it, need."""

from discreet.testing.assert_private import assert_private
from discreet.testing.neighbouring import neighbouring
from discreet.testing.tape import Tape

__all__ = ["Tape", "assert_private", "neighbouring"]

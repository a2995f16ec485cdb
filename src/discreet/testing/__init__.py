"""What tests of discreet, and of code that uses it, need."""

from discreet.testing.assert_private import assert_private

__all__ = ["assert_private"]

# SPDX-License-Identifier: Apache-2.0
"""The version of this package.  libcairn must be of the same major.minor version or newer."""

__version__ = "0.1.0"

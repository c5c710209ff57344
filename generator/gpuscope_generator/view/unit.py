"""Units of Grafana that our panels use."""

from enum import StrEnum

__all__ = ["Unit"]


class Unit(StrEnum):
    """The id that Grafana, and its linter, know a unit by. Data is always in base units."""

    NONE = "none"
    COUNT = "short"
    RATIO = "percentunit"
    BYTES = "bytes"
    BYTES_PER_SECOND = "Bps"
    SECONDS = "s"
    WATTS = "watt"
    JOULES = "joule"
    WATT_HOURS = "watth"
    CELSIUS = "celsius"
    HERTZ = "hertz"
    OPERATIONS_PER_SECOND = "ops"
    IO_PER_SECOND = "iops"
    REQUESTS_PER_SECOND = "reqps"
    COUNT_PER_SECOND = "suffix:/s"
    TOKENS_PER_SECOND = "suffix: tok/s"
    BOOLEAN = "bool_yes_no"
    TIMESTAMP = "dateTimeFromNow"
    FLOPS = "flops"
    CURRENCY = "currencyUSD"
    TEXT = "string"

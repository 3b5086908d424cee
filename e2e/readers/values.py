"""One form of text for the values that the readers return."""

import datetime
import decimal


def text(value: object) -> str | None:
    """Text of a value, None for null. Timestamps with a zone are put in UTC and end in Z."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return timestamp(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def timestamp(value: datetime.datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat(timespec="microseconds")
    utc = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds") + "Z"

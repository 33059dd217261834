"""JSON echo on Granian's own interface (RSGI), with msgspec: the types check the document and shape the answer."""

import msgspec
from msgspec import UNSET, UnsetType


class Code(msgspec.Struct, gc=False):
    rgba: list[int] | UnsetType = UNSET
    hex: str | UnsetType = UNSET


class Color(msgspec.Struct, gc=False):
    color: str | UnsetType = UNSET
    category: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    code: Code | UnsetType = UNSET


class Body(msgspec.Struct, gc=False):
    colors: list[Color]


decoder = msgspec.json.Decoder(Body)
encoder = msgspec.json.Encoder()
JSON = [("content-type", "application/json")]


async def app(scope, protocol):
    if scope.method != "POST":
        protocol.response_str(200, [("content-type", "text/plain")], "Hello World")
        return
    try:
        body = decoder.decode(await protocol())
    except msgspec.DecodeError as error:
        protocol.response_str(400, [("content-type", "text/plain")], str(error))
        return
    protocol.response_bytes(200, JSON, encoder.encode(body))

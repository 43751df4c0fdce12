"""A websocket client that asks Streamlit to run the script and reads what it draws."""

from __future__ import annotations

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.servers import RunningServer


def run_page(
    server: RunningServer, token: str | None, name: str = "", *, origin: str | None = None
) -> list[ForwardMsg]:
    """Every message of one script run of the page `name`; raises InvalidStatus when the handshake is refused."""
    with open_stream(server, token, origin=origin) as stream:
        return rerun(stream, name)


def open_stream(server: RunningServer, token: str | None, *, origin: str | None = None):  # type: ignore[no-untyped-def]
    """The websocket of a browser that has this session's cookie."""
    return connect(
        server.url.replace("http", "ws") + "/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        origin=origin or server.url,  # type: ignore[arg-type]
        additional_headers={"Cookie": f"assay_session={token}"} if token else {},
        max_size=None,
    )


def rerun(stream, name: str = "") -> list[ForwardMsg]:  # type: ignore[no-untyped-def]
    """Ask for a run of the page and read until it has finished."""
    asked = BackMsg()
    asked.rerun_script.query_string = ""
    asked.rerun_script.page_name = name
    stream.send(asked.SerializeToString())
    messages = []
    while True:
        message = ForwardMsg()
        message.ParseFromString(stream.recv(timeout=20))
        messages.append(message)
        if message.WhichOneof("type") == "script_finished":
            return messages


def texts(messages: list[ForwardMsg]) -> str:
    """What a run has drawn, as the text of its messages."""
    return "\n".join(str(message) for message in messages)

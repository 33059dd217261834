defmodule Hello do
  @moduledoc ~S("Hello World" as a plug.)

  @behaviour Plug

  import Plug.Conn

  @impl true
  def init(options), do: options

  @impl true
  def call(conn, _options) do
    conn
    |> put_resp_content_type("text/plain")
    |> send_resp(200, "Hello World")
  end
end

defmodule Hello.Application do
  @moduledoc "Cowboy, listening on PORT."

  use Application

  @impl true
  def start(_type, _args) do
    port = String.to_integer(System.get_env("PORT", "3000"))

    options = [
      ip: {127, 0, 0, 1},
      port: port,
      # Cowboy closes a connection after a number of requests unless told otherwise.
      protocol_options: [max_keepalive: :infinity]
    ]

    Supervisor.start_link(
      [{Plug.Cowboy, scheme: :http, plug: Hello, options: options}],
      strategy: :one_for_one
    )
  end
end

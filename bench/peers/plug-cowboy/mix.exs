defmodule Hello.MixProject do
  use Mix.Project

  def project do
    [
      app: :hello,
      version: "0.0.0",
      elixir: "~> 1.14",
      deps: [{:plug_cowboy, "~> 2.7"}]
    ]
  end

  def application do
    [mod: {Hello.Application, []}]
  end
end

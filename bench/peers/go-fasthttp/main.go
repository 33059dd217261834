// JSON echo on fasthttp, with sonic's just-in-time compiled codec.
package main

import (
	"flag"
	"log"

	"github.com/bytedance/sonic"
	"github.com/valyala/fasthttp"
)

type Code struct {
	RGBA []int  `json:"rgba,omitempty"`
	Hex  string `json:"hex,omitempty"`
}

type Color struct {
	Color    string `json:"color,omitempty"`
	Category string `json:"category,omitempty"`
	Type     string `json:"type,omitempty"`
	Code     Code   `json:"code"`
}

type Body struct {
	Colors []Color `json:"colors"`
}

func handle(ctx *fasthttp.RequestCtx) {
	if !ctx.IsPost() {
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello World")
		return
	}
	var body Body
	if err := sonic.Unmarshal(ctx.PostBody(), &body); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	answer, err := sonic.Marshal(&body)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(answer)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "where to listen")
	flag.Parse()
	server := &fasthttp.Server{Handler: handle, NoDefaultServerHeader: true}
	log.Fatal(server.ListenAndServe(*addr))
}

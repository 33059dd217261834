// JSON echo on net/http and encoding/json, decoding into structs.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
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

func handle(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "Hello World")
		return
	}
	var body Body
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(body)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "where to listen")
	flag.Parse()
	log.Fatal(http.ListenAndServe(*addr, http.HandlerFunc(handle)))
}

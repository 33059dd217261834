// JSON echo on net/http and encoding/json, decoding into interface{}: any document will do.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
)

func handle(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "Hello World")
		return
	}
	var document interface{}
	if err := json.NewDecoder(r.Body).Decode(&document); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(document)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "where to listen")
	flag.Parse()
	log.Fatal(http.ListenAndServe(*addr, http.HandlerFunc(handle)))
}

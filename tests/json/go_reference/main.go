// The typed echo in Go's encoding/json, for differential_test.py. Input: documents, each behind its size (4 octets,
// little endian). Output, sized likewise: the document written again, `invalid_json offset` or `type_mismatch`.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
)

type code struct {
	Rgba []int64 `json:"rgba,omitempty"`
	Hex  string  `json:"hex,omitempty"`
}

type color struct {
	Color    string `json:"color,omitempty"`
	Category string `json:"category,omitempty"`
	Type     string `json:"type,omitempty"`
	Code     code   `json:"code"`
}

type body struct {
	Colors []color `json:"colors"`
}

func answer(text []byte) []byte {
	var parsed body
	err := json.Unmarshal(text, &parsed)
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset := syntax.Offset - 1
		if err.Error() == "unexpected end of JSON input" {
			offset = int64(len(text))
		}
		return fmt.Appendf(nil, "invalid_json %d", offset)
	case errors.As(err, &mismatch):
		return []byte("type_mismatch")
	case err != nil:
		return []byte(err.Error())
	}
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(parsed); err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSuffix(written.Bytes(), []byte("\n"))
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		var size uint32
		err := binary.Read(in, binary.LittleEndian, &size)
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			log.Fatal(err)
		}
		reply := answer(text)
		if err := binary.Write(out, binary.LittleEndian, uint32(len(reply))); err != nil {
			log.Fatal(err)
		}
		if _, err := out.Write(reply); err != nil {
			log.Fatal(err)
		}
	}
}

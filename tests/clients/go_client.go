// Go's own HTTP client against the server.
//
//	go run go_client.go PROGRAM
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

type Code struct {
	Rgba []int64 `json:"rgba,omitempty"`
	Hex  string  `json:"hex,omitempty"`
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

func documentOf(count, first int) []byte {
	body := Body{Colors: []Color{}}
	for number := first; number < first+count; number++ {
		body.Colors = append(body.Colors, Color{
			Color: fmt.Sprintf("c%d", number),
			Type:  "primary",
			Code:  Code{Rgba: []int64{int64(number), 0, -1, 1 << 62}, Hex: "#ABC"},
		})
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}

// startServer starts the program on a free port and waits until it listens.
func startServer(program string) (*exec.Cmd, string, error) {
	server := exec.Command(program, "--port", "0")
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PORT=") && !strings.HasPrefix(variable, "CLUSTER=") {
			server.Env = append(server.Env, variable)
		}
	}
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := server.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := server.Start(); err != nil {
		return nil, "", err
	}
	ready := regexp.MustCompile(`^Listening on port (\d+)$`)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if match := ready.FindStringSubmatch(lines.Text()); match != nil {
			return server, "http://127.0.0.1:" + match[1], nil
		}
	}
	return nil, "", errors.New("the server does not listen")
}

// client checks answers; it keeps its connections.
type client struct {
	http.Client
	url string
}

func newClient(url string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, ExpectContinueTimeout: 60 * time.Second}
	return &client{http.Client{Transport: transport, Timeout: 30 * time.Second}, url}
}

// expectEcho posts the document, from a reader without a known length if asked, and compares the answer.
func (c *client) expectEcho(document []byte, isChunked bool, prepare func(*http.Request) *http.Request) error {
	var content io.Reader = bytes.NewReader(document)
	if isChunked {
		content = io.MultiReader(content) // hides the length
	}
	request, err := http.NewRequest("POST", c.url, content)
	if err != nil {
		return err
	}
	if prepare != nil {
		request = prepare(request)
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != 200 || !bytes.Equal(text, document) {
		return fmt.Errorf("%s, %d octets for %d", response.Status, len(text), len(document))
	}
	return nil
}

func checkReuse(c *client) error {
	reused := 0
	trace := &httptrace.ClientTrace{GotConn: func(connection httptrace.GotConnInfo) {
		if connection.Reused {
			reused++
		}
	}}
	for round := 0; round < 50; round++ {
		err := c.expectEcho(documentOf(5, round), round%2 == 1, func(request *http.Request) *http.Request {
			return request.WithContext(httptrace.WithClientTrace(request.Context(), trace))
		})
		if err != nil {
			return err
		}
	}
	if reused != 49 {
		return fmt.Errorf("a connection was used again %d times, not 49", reused)
	}
	return nil
}

func checkConcurrency(c *client) error {
	var group sync.WaitGroup
	failures := make(chan error, 32)
	for worker := 0; worker < 32; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			for round := 0; round < 30; round++ {
				if err := c.expectEcho(documentOf(1+round, 1000*worker+round), round%3 == 0, nil); err != nil {
					failures <- fmt.Errorf("worker %d, round %d: %w", worker, round, err)
					return
				}
			}
		}(worker)
	}
	group.Wait()
	close(failures)
	return <-failures
}

func checkLarge(c *client) error {
	document := documentOf(10_000, 0)
	if len(document) > 1<<20 {
		return fmt.Errorf("%d octets are too many for this check", len(document))
	}
	if err := c.expectEcho(document, false, nil); err != nil {
		return err
	}
	return c.expectEcho(document, true, nil)
}

func checkExpect(c *client) error {
	continued := false
	trace := &httptrace.ClientTrace{Got100Continue: func() { continued = true }}
	err := c.expectEcho(documentOf(100, 0), false, func(request *http.Request) *http.Request {
		request.Header.Set("Expect", "100-continue")
		return request.WithContext(httptrace.WithClientTrace(request.Context(), trace))
	})
	if err == nil && !continued {
		return errors.New("no 100 Continue")
	}
	return err
}

func checkTooLarge(c *client) error {
	for _, expect := range []string{"", "100-continue"} {
		request, err := http.NewRequest("POST", c.url, strings.NewReader(strings.Repeat(" ", 3_000_000)))
		if err != nil {
			return err
		}
		if expect != "" {
			request.Header.Set("Expect", expect)
		}
		response, err := c.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != 413 || !response.Close {
			return fmt.Errorf("%s, close: %t", response.Status, response.Close)
		}
	}
	return nil
}

func checkFault(c *client) error {
	for _, document := range []string{`{"colors":[{"code":{"rgba":[0.5]}}]}`, `{"colors":`, `[]`, ``} {
		response, err := c.Post(c.url, "application/json", strings.NewReader(document))
		if err != nil {
			return err
		}
		var problem struct {
			Title  string
			Status int
			Code   string
		}
		err = json.NewDecoder(response.Body).Decode(&problem)
		response.Body.Close()
		if err != nil || response.StatusCode != 400 || problem.Status != 400 || problem.Code == "" {
			return fmt.Errorf("%q: %s %+v %v", document, response.Status, problem, err)
		}
	}
	return nil
}

func checkHead(c *client) error {
	response, err := c.Head(c.url)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != 200 || response.ContentLength != 11 {
		return fmt.Errorf("%s, %d octets", response.Status, response.ContentLength)
	}
	return nil
}

func run(program string) error {
	server, url, err := startServer(program)
	if err != nil {
		return err
	}
	checks := []struct {
		name  string
		check func(*client) error
	}{
		{"one connection is used again and again", checkReuse},
		{"many at once are told apart", checkConcurrency},
		{"large documents, counted and chunked", checkLarge},
		{"Expect: 100-continue", checkExpect},
		{"what is too large is told so", checkTooLarge},
		{"faults are problem documents", checkFault},
		{"HEAD", checkHead},
	}
	for _, each := range checks {
		if err := each.check(newClient(url)); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		fmt.Println("ok     ", each.name)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := server.Wait(); err != nil {
		return fmt.Errorf("its end: %w", err)
	}
	fmt.Println("ok      it ends when told to, though connections are kept")
	return nil
}

func main() {
	runtime.LockOSThread() // the server ends with the thread that started it
	time.AfterFunc(100*time.Second, func() {
		fmt.Println("FAILED  it takes too long")
		os.Exit(1)
	})
	if err := run(os.Args[1]); err != nil {
		fmt.Println("FAILED ", err)
		os.Exit(1)
	}
}

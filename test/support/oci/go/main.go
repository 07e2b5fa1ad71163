// A registry in memory with the referrers API, whose faults and accounts a test sets over HTTP: see `fault-registry.ts`.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Fault changes the responses to matching requests.
type Fault struct {
	Method string `json:"method"`
	// Path is a regular expression, for the path with its query.
	Path string `json:"path"`
	// Times is how many requests it holds for; 0 is all.
	Times   int               `json:"times"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body"`
	// Remove names headers of the response.
	Remove []string `json:"remove"`
	// CutAt ends the connection after so many bytes of the body; -1 is before the response.
	CutAt *int `json:"cutAt"`
	// FlipAt changes the byte there.
	FlipAt *int `json:"flipAt"`
	// Hang never responds.
	Hang bool `json:"hang"`
	// Afterwards is a request to the registry itself, made after the response: GET its From and PUT it at To.
	Afterwards *struct{ From, To string } `json:"afterwards"`
	path       *regexp.Regexp
}

// Request is an entry of the access log.
type Request struct {
	Method        string `json:"method"`
	Path          string `json:"path"`
	Status        int    `json:"status"`
	Authorization string `json:"authorization,omitempty"`
	Range         string `json:"range,omitempty"`
	Bytes         int64  `json:"bytes"`
}

type server struct {
	registry http.Handler
	lock     sync.Mutex
	faults   []*Fault
	log      []Request
}

func (s *server) admin(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "PUT /_admin/faults":
		var faults []*Fault
		if err := json.NewDecoder(r.Body).Decode(&faults); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		for _, f := range faults {
			f.path = regexp.MustCompile(f.Path)
		}
		s.faults = faults
	case "GET /_admin/log":
		json.NewEncoder(w).Encode(s.log)
	case "DELETE /_admin/log":
		s.log = []Request{}
	default:
		http.NotFound(w, r)
	}
}

func (s *server) faultFor(r *http.Request) *Fault {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, f := range s.faults {
		if f.Times < 0 || (f.Method != "" && f.Method != r.Method) || !f.path.MatchString(r.URL.RequestURI()) {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				f.Times = -1
			}
		}
		return f
	}
	return nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.faultFor(r)
	if f != nil && f.Hang {
		<-r.Context().Done()
		return
	}
	recorder := httptest.NewRecorder()
	body := &countingReader{ReadCloser: r.Body}
	r.Body = body
	if f != nil && f.Status != 0 {
		io.Copy(io.Discard, r.Body)
		recorder.WriteHeader(f.Status)
	} else {
		s.registry.ServeHTTP(recorder, r)
	}
	content := recorder.Body.Bytes()
	header := w.Header()
	for name, values := range recorder.Header() {
		header[name] = values
	}
	if f != nil {
		content = f.change(header, content)
	}
	s.lock.Lock()
	s.log = append(s.log, Request{r.Method, r.URL.RequestURI(), recorder.Code, r.Header.Get("Authorization"), r.Header.Get("Range"), body.count})
	s.lock.Unlock()
	if f != nil && f.Afterwards != nil {
		s.copyManifest(f.Afterwards.From, f.Afterwards.To)
	}
	if f != nil && f.CutAt != nil && *f.CutAt < 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(recorder.Code)
	if f != nil && f.CutAt != nil && *f.CutAt < len(content) {
		w.Write(content[:*f.CutAt])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.Write(content)
}

func (f *Fault) change(header http.Header, content []byte) []byte {
	if f.Body != nil {
		content = []byte(*f.Body)
		header.Set("Content-Length", strconv.Itoa(len(content)))
	}
	for name, value := range f.Headers {
		header.Set(name, value)
	}
	for _, name := range f.Remove {
		header.Del(name)
	}
	if f.FlipAt != nil && *f.FlipAt < len(content) {
		content = append([]byte{}, content...)
		content[*f.FlipAt] ^= 1
	}
	return content
}

func (s *server) copyManifest(from, to string) {
	source := httptest.NewRecorder()
	s.registry.ServeHTTP(source, httptest.NewRequest("GET", from, nil))
	put := httptest.NewRequest("PUT", to, source.Body)
	put.Header.Set("Content-Type", source.Header().Get("Content-Type"))
	s.registry.ServeHTTP(httptest.NewRecorder(), put)
}

type countingReader struct {
	io.ReadCloser
	count int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.count += int64(n)
	return n, err
}

func main() {
	address := flag.String("address", "localhost:0", "host and port")
	referrers := flag.Bool("referrers", true, "serve the referrers API")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{registry: registry.New(registry.WithReferrersSupport(*referrers)), log: []Request{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/_admin/", s.admin)
	mux.Handle("/", s)
	log.Printf("serving at %s", listener.Addr())
	log.Fatal((&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(listener))
}

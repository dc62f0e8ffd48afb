// Measures CoreDNS's kubernetes plugin, octets to octets, on objects that it lists and watches from
// a small API server in this process.
//
// Arguments: the objects as a v1 List in JSON, and a file of queries for each measurement, in which
// every query stands behind its size in two octets. For each line on standard input, the number of
// a file, it answers all of that file's queries several times over and prints nanoseconds a query.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin/kubernetes"
	"github.com/coredns/coredns/plugin/test"
	"github.com/miekg/dns"
)

const minimum = 200 * time.Millisecond

type list struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Metadata   map[string]string `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

func main() {
	api := httptest.NewServer(serveObjects(readObjects(os.Args[1])))
	plugin := start(api.URL)
	var sets [][][]byte
	for _, path := range os.Args[2:] {
		sets = append(sets, readQueries(path))
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		index, err := strconv.Atoi(lines.Text())
		check(err)
		fmt.Println(measure(plugin, sets[index]))
	}
}

func start(url string) *kubernetes.Kubernetes {
	corefile := `kubernetes cluster.local in-addr.arpa ip6.arpa {
		endpoint ` + url + `
		pods insecure
		ttl 30
	}`
	controller := caddy.NewTestController("dns", corefile)
	controller.Next()
	plugin, err := kubernetes.ParseStanza(controller)
	check(err)
	onStart, _, err := plugin.InitKubeCache(context.Background())
	check(err)
	check(onStart())
	for !plugin.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	return plugin
}

// writer packs the reply, as a server does before it sends it.
type writer struct {
	test.ResponseWriter
	size int
}

func (w *writer) WriteMsg(message *dns.Msg) error {
	packed, err := message.Pack()
	w.size = len(packed)
	return err
}

func measure(plugin *kubernetes.Kubernetes, queries [][]byte) int64 {
	ctx := context.Background()
	count := 0
	begin := time.Now()
	for time.Since(begin) < minimum {
		for _, query := range queries {
			message := new(dns.Msg)
			check(message.Unpack(query))
			out := &writer{}
			_, err := plugin.ServeDNS(ctx, out, message)
			check(err)
			if out.size == 0 {
				panic("no reply to " + message.Question[0].String())
			}
		}
		count += len(queries)
	}
	return time.Since(begin).Nanoseconds() / int64(count)
}

func serveObjects(byKind map[string][]json.RawMessage) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		kind := map[string]string{
			"services":       "Service",
			"endpointslices": "EndpointSlice",
			"namespaces":     "Namespace",
		}[resource]
		version := "v1"
		if kind == "EndpointSlice" {
			version = "discovery.k8s.io/v1"
		}
		check(json.NewEncoder(w).Encode(list{
			Kind:       kind + "List",
			APIVersion: version,
			Metadata:   map[string]string{"resourceVersion": "1"},
			Items:      byKind[kind],
		}))
	}
}

func readObjects(path string) map[string][]json.RawMessage {
	text, err := os.ReadFile(path)
	check(err)
	var all list
	check(json.Unmarshal(text, &all))
	byKind := map[string][]json.RawMessage{}
	for _, item := range all.Items {
		var object struct{ Kind string }
		check(json.Unmarshal(item, &object))
		byKind[object.Kind] = append(byKind[object.Kind], item)
	}
	return byKind
}

func readQueries(path string) [][]byte {
	bytes, err := os.ReadFile(path)
	check(err)
	var queries [][]byte
	for len(bytes) > 0 {
		size := int(binary.BigEndian.Uint16(bytes))
		queries = append(queries, bytes[2:2+size])
		bytes = bytes[2+size:]
	}
	return queries
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}


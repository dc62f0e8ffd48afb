// Requests a URL whose host the gateway resolves: go run main.go http://NAME/
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
)

func resolve(ctx context.Context, name string) (string, error) {
	query := url.Values{"name": {name}, "type": {"A"}}
	request, err := http.NewRequestWithContext(ctx, "GET", "${origin}/resolve?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KUBEDOH_CLIENT_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("HTTP %d of the gateway", response.StatusCode)
	}
	var reply struct {
		Answer []struct {
			Type int
			Data string
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return "", err
	}
	for _, record := range reply.Answer {
		if record.Type == 1 {
			return record.Data, nil
		}
	}
	return "", fmt.Errorf("%s has no address", name)
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip, err := resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, net.JoinHostPort(ip, port))
}

func main() {
	client := http.Client{Transport: &http.Transport{DialContext: dial}}
	response, err := client.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}

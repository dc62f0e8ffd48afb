// A client of DNSCrypt with a local address: dnscrypt STAMP FROM NAME prints the response.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/ameshkov/dnscrypt/v2"
	"github.com/ameshkov/dnsstamps"
	"github.com/miekg/dns"
)

func main() {
	stamp, err := dnsstamps.NewServerStampFromString(os.Args[1])
	check(err)
	client := &dnscrypt.Client{Net: "udp", Timeout: 5 * time.Second}
	server, err := client.DialStamp(stamp)
	check(err)
	dialer := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(os.Args[2])}}
	connection, err := dialer.Dial("udp", stamp.ServerAddrStr)
	check(err)
	query := new(dns.Msg)
	query.SetQuestion(dns.Fqdn(os.Args[3]), dns.TypeA)
	response, err := client.ExchangeConn(connection, query, server)
	check(err)
	fmt.Println(response)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

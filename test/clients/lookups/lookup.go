// Prints the addresses of a name, one a line, by Go's own resolver (built without cgo).
package main

import (
	"fmt"
	"net"
	"os"
)

func main() {
	addresses, err := net.LookupHost(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, address := range addresses {
		fmt.Println(address)
	}
}

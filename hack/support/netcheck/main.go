// Command netcheck tells from inside a pod what its network lets through.
//
//	netcheck serve PORT            accepts connections, greets and closes
//	netcheck dial ADDRESS...       prints "open" or "closed" and each address
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

const patience = time.Second

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: netcheck serve PORT | netcheck dial ADDRESS...")
		os.Exit(2)
	}
	if os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	dial(os.Args[2:])
}

func serve(port string) {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			continue
		}
		fmt.Fprintln(connection, "hello")
		connection.Close()
	}
}

func dial(addresses []string) {
	open := make([]bool, len(addresses))
	var group sync.WaitGroup
	for index, address := range addresses {
		group.Add(1)
		go func() {
			defer group.Done()
			connection, err := net.DialTimeout("tcp", address, patience)
			if err == nil {
				open[index] = true
				connection.Close()
			}
		}()
	}
	group.Wait()
	for index, address := range addresses {
		word := "closed"
		if open[index] {
			word = "open"
		}
		fmt.Println(word, address)
	}
}

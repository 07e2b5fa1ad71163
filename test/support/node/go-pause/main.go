// Command pause holds the namespaces of a pod: it reaps orphaned processes and exits when it is asked to.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	received := make(chan os.Signal, 16)
	signal.Notify(received, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for {
		if <-received != syscall.SIGCHLD {
			os.Exit(0)
		}
		reap()
	}
}

// One SIGCHLD may stand for several children.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
	}
}

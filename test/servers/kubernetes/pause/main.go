// The first process of a pod, and of the node's PID namespace: it reaps what others leave.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for s := range c {
		if s != syscall.SIGCHLD {
			return
		}
		for {
			if p, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); p <= 0 || err != nil {
				break
			}
		}
	}
}

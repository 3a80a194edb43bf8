// What a node runs beside the control plane, as one binary; the name it is called by chooses the part.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-scheduler": func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":     proxy.NewProxyCommand,
	"kubelet":        func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	part := parts[filepath.Base(os.Args[0])]
	if part == nil {
		fmt.Fprintln(os.Stderr, "unknown part:", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(part()))
}

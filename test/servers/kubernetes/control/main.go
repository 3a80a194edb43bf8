// One binary for every part of a cluster; the name it is called by chooses the part.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

var parts = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          run(apiserver.NewAPIServerCommand),
	"kube-controller-manager": run(kcm.NewControllerManagerCommand),
	"kubectl": func() {
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			util.CheckErr(err)
		}
	},
}

func run(command func() *cobra.Command) func() { return func() { os.Exit(cli.Run(command())) } }

func main() {
	if part := parts[filepath.Base(os.Args[0])]; part != nil {
		part()
		return
	}
	fmt.Fprintln(os.Stderr, "unknown part:", os.Args[0])
	os.Exit(2)
}

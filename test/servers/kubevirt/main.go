// One binary for the parts of KubeVirt that run without a node; the name it is called by chooses the part.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	admission "k8s.io/api/admissionregistration/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	klog "kubevirt.io/client-go/log"
	"kubevirt.io/kubevirt/pkg/service"
	virtapi "kubevirt.io/kubevirt/pkg/virt-api"
	"kubevirt.io/kubevirt/pkg/virt-controller/watch"
	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/components"
)

const namespace = "kubevirt"

var parts = map[string]func() error{
	"virt-api": func() error {
		klog.InitializeLogging("virt-api")
		app := virtapi.NewVirtApi()
		service.Setup(app)
		app.Execute()
		return nil
	},
	"virt-controller":   func() error { watch.Execute(); return nil },
	"kubevirt-crds":     func() error { return crds() },
	"kubevirt-webhooks": func() error { return webhooks(os.Args[1], os.Args[2]) },
}

// crds prints what virt-operator would install.
func crds() error {
	for _, build := range []func() (*extv1.CustomResourceDefinition, error){
		components.NewVirtualMachineInstanceCrd, components.NewVirtualMachineCrd, components.NewPresetCrd,
		components.NewReplicaSetCrd, components.NewVirtualMachineInstanceMigrationCrd, components.NewKubeVirtCrd,
		components.NewVirtualMachinePoolCrd, components.NewVirtualMachineSnapshotCrd,
		components.NewVirtualMachineSnapshotContentCrd, components.NewVirtualMachineRestoreCrd,
		components.NewVirtualMachineExportCrd, components.NewVirtualMachineInstancetypeCrd,
		components.NewVirtualMachineClusterInstancetypeCrd, components.NewVirtualMachinePreferenceCrd,
		components.NewVirtualMachineClusterPreferenceCrd, components.NewMigrationPolicyCrd, components.NewVirtualMachineCloneCrd,
	} {
		crd, err := build()
		if err != nil {
			return err
		}
		if err := print(crd); err != nil {
			return err
		}
	}
	return nil
}

// webhooks prints virt-api's own webhook configurations, pointed at a process instead of a Service.
func webhooks(base, caFile string) error {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	direct := func(config *admission.WebhookClientConfig) {
		url := base + *config.Service.Path
		config.URL, config.Service, config.CABundle = &url, nil, ca
	}
	mutating := components.NewVirtAPIMutatingWebhookConfiguration(namespace)
	for i := range mutating.Webhooks {
		direct(&mutating.Webhooks[i].ClientConfig)
	}
	validating := components.NewVirtAPIValidatingWebhookConfiguration(namespace)
	for i := range validating.Webhooks {
		direct(&validating.Webhooks[i].ClientConfig)
	}
	if err := print(mutating); err != nil {
		return err
	}
	return print(validating)
}

func print(object any) error {
	text, err := yaml.Marshal(object)
	if err == nil {
		_, err = fmt.Printf("---\n%s", text)
	}
	return err
}

func main() {
	part := parts[filepath.Base(os.Args[0])]
	if part == nil {
		fmt.Fprintln(os.Stderr, "unknown part:", os.Args[0])
		os.Exit(2)
	}
	if err := part(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

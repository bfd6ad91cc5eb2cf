// Command etcd is the etcd server that this release of Kubernetes is tested with, from the same module graph.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}

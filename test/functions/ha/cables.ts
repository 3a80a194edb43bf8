/** For the lab: a host with two bridges and a bond of two cables, by LACP against a switch; t10 and t11 are the switch's ends. */
export const bondAgainstSwitch = `
for n in n1 tor; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do
  ip link add m$i netns n1 type veth peer name t1$i netns tor
  ip -n n1 link set m$i up; ip -n tor link set t1$i up
done
node.sh n1 n1; node.sh tor tor
ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \\
  -- add-br br-provider -- set bridge br-provider datapath_type=netdev \\
  -- add-bond br-provider bond0 m0 m1 -- set port bond0 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
ovs-vsctl --db=unix:$DIR/tor/db.sock -- add-br br0 -- set bridge br0 datapath_type=netdev \\
  -- add-bond br0 b1 t10 t11 -- set port b1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
`

/** The same host as a chassis of OVN, whose central is beside it. */
export const ovnOnTop = `
ovn-central.sh central
ovn-host.sh n1 10.97.0.1 n1
ovn-nbctl --db=unix:$DIR/central/nb.sock --wait=hv sync
`

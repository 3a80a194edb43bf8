// Real Open vSwitch, OVN and ovsdb-server for tests; everything ends with the test, or with its process
export type { OvsLab } from './ovs/lab.ts'
export { startOvsLab } from './ovs/lab.ts'
export type { OvsdbOptions, OvsdbServer } from './ovs/ovsdb.ts'
export { startCluster, startOvsdb, testSchema } from './ovs/ovsdb.ts'
export { prepare } from './ovs/prepare.ts'

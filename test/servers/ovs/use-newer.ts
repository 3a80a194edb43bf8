import { folder, prepare } from '../ovs-newer.ts'

const prepared = await prepare()
if (!prepared.ok) throw new Error(prepared.reason)
process.env['OVS_HOME'] = folder

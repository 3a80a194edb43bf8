// Imported first. Without a wait at the top: modules that stand after one that waits would not wait for it, and read the environment too early.
import { folder, prepareNow } from '../ovs-newer.ts'

const prepared = prepareNow()
if (!prepared.ok) throw new Error(prepared.reason)
process.env['OVS_HOME'] = folder

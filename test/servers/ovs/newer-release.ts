// A test of its own in every file that runs on the newer release: that it does.
import t from 'tap'
import { release } from '../ovs-newer.ts'
import { output } from './daemon.ts'

const versionOf = async (command: string): Promise<string> => /(\d[\d.]*)$/m.exec(await output(command, ['--version']))?.[1] ?? ''

t.test(`OV-74 Open vSwitch ${release.ovs} and OVN ${release.ovn}, not the installed ones`, async t => {
  for (const command of ['ovs-vswitchd', 'ovsdb-server']) t.equal(await versionOf(command), release.ovs, command)
  t.equal(await versionOf('ovn-controller'), release.ovn)
  t.not(await versionOf('/usr/sbin/ovs-vswitchd'), release.ovs, 'the installed one is another')
})

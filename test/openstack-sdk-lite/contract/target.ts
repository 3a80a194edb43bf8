// What the contract needs of an OpenStack, be it the real one or the fake.
import { setTimeout as pause } from 'node:timers/promises'
import type { Cloud, Server } from 'openstack-sdk-lite'
import { patienceMs } from '../../servers/eventually.ts'
import type { OpenStack, RealOpenStack } from '../../servers/openstack.ts'

export type Target = OpenStack & Pick<RealOpenStack, 'killAgent'>

/** Asks until the answer is as wanted. The real services need their time; a wrong answer ends in an error that shows the last one. */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  wanted: (value: T) => boolean,
  deadlineMs = patienceMs
): Promise<T> {
  const end = Date.now() + deadlineMs
  for (;;) {
    const value = await ask()
    if (wanted(value)) return value
    if (Date.now() > end) throw new Error(`waited ${deadlineMs} ms for ${what}, last seen: ${JSON.stringify(value)}`)
    await pause(50)
  }
}

export async function settled(cloud: Cloud, id: string, status: string): Promise<Server> {
  const found = await until(
    `${id} to be ${status}`,
    () => cloud.servers.get(id),
    server => server !== undefined && server.taskState === null && (server.status === status || server.status === 'ERROR')
  )
  if (found?.status !== status) throw new Error(`${id} is ${found?.status}: ${found?.fault?.message}`)
  return found
}

export async function boot(cloud: Cloud, target: Target, name: string, host: string): Promise<Server> {
  const { id } = await cloud.servers.create({ name, host, imageId: target.imageId, flavorId: target.flavorId, networks: 'none' })
  return settled(cloud, id, 'ACTIVE')
}

export async function remove(cloud: Cloud, ...ids: string[]): Promise<void> {
  for (const id of ids) await cloud.servers.delete(id)
  for (const id of ids)
    await until(
      `${id} to be gone`,
      () => cloud.servers.get(id),
      server => server === undefined
    )
}

import {constants} from 'node:fs'
import {access} from 'node:fs/promises'
import {type NetworkInterfaceInfo, networkInterfaces} from 'node:os'
import {delimiter, join} from 'node:path'
import type {SettingSources} from '../../config/index.js'

/** Overlay network (VPN) through which the nodes of a mesh may reach each other. */
export interface Overlay {
  provider: 'tailscale' | 'wireguard' | 'zerotier'
  /** True if its program is installed. */
  available: boolean
  /** True if this machine has a network interface of it. */
  connected: boolean
  /** Interface and address, or the path of the program. */
  detail: string
}

interface Provider {
  provider: Overlay['provider']
  program: string
  interfaces: RegExp
}

const providers: readonly Provider[] = [
  {provider: 'tailscale', program: 'tailscale', interfaces: /^tailscale/i},
  {provider: 'wireguard', program: 'wg', interfaces: /^(wg|wireguard)/i},
  {provider: 'zerotier', program: 'zerotier-cli', interfaces: /^(zt|zerotier)/i},
]

type Interfaces = Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>>

/** Finds the overlay networks of this machine from its interfaces and PATH, without running any program. */
export async function findOverlays(
  env: SettingSources['env'],
  interfaces: Interfaces = networkInterfaces(),
): Promise<Overlay[]> {
  const found = await Promise.all(providers.map((provider) => findOverlay(provider, env, interfaces)))
  return found.filter(({available, connected}) => available || connected)
}

async function findOverlay(
  {provider, program, interfaces: names}: Provider,
  env: SettingSources['env'],
  interfaces: Interfaces,
): Promise<Overlay> {
  const path = await programPath(env, program)
  const [name] = Object.keys(interfaces).filter((each) => names.test(each))
  const address = name === undefined ? undefined : interfaces[name]?.[0]?.address
  return {
    provider,
    available: path !== undefined,
    connected: address !== undefined,
    detail: address === undefined ? (path ?? '') : `${name} ${address}`,
  }
}

async function programPath(
  {PATH = '', Path = ''}: SettingSources['env'],
  program: string,
): Promise<string | undefined> {
  for (const folder of (PATH || Path).split(delimiter).filter(Boolean))
    for (const name of [program, `${program}.exe`]) {
      const path = join(folder, name)
      const isProgram = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isProgram) return path
    }
  return undefined
}

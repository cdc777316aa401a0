import os from 'node:os'
import {meshSettings, resolveSettings, type SettingSources, type SettingValues} from '../../config/index.js'

/** What a machine reports of itself. Accelerators are what its environment advertises: no driver is asked. */
export interface HostProbe {
  cpu_cores?: number
  arch?: string
  hostname?: string
  gpu_cuda: boolean
  gpu_vulkan: boolean
  gpu_webgpu: boolean
  npu: boolean
  device_class?: string
  /** MiB. */
  min_vram_mb?: number
  min_cpu_cores?: number
  labels: readonly string[]
}

export interface HostFacts {
  /** Threads that can run at once. */
  parallelism: number
  /** In the words of `process.arch`. */
  arch: string
  hostname: string
}

export const readHost = (): HostFacts => ({
  parallelism: os.availableParallelism(),
  arch: process.arch,
  hostname: os.hostname(),
})

type Environment = SettingSources['env']

/** What the machine is, and what its environment advertises of it. */
export const probeHost = (env: Environment, host: HostFacts): HostProbe =>
  describeHost(resolveSettings(meshSettings, {env}).values, env, host)

/** The same, where more than the environment may advertise. */
export function describeHost(
  advertised: SettingValues<(typeof meshSettings)['rows']>,
  env: Environment,
  host: HostFacts,
): HostProbe {
  const hostname = variable(env, 'HOSTNAME') || variable(env, 'COMPUTERNAME') || host.hostname.trim()
  const arch = architectureOf(host)
  return {
    ...(host.parallelism > 0 ? {cpu_cores: host.parallelism} : {}),
    ...(arch === '' ? {} : {arch}),
    ...(hostname === '' ? {} : {hostname}),
    ...(advertised.deviceClass === undefined ? {} : {device_class: advertised.deviceClass}),
    gpu_cuda: advertised.advertiseGpu,
    gpu_vulkan: advertised.advertiseVulkan,
    gpu_webgpu: advertised.advertiseWebgpu,
    npu: advertised.advertiseNpu,
    labels: advertised.hostLabels,
  }
}

const variable = (env: Environment, name: string) => (env[name] ?? '').trim()

/** The names that the rest of the mesh has for what Node calls otherwise. */
const architectures: Readonly<Record<string, string>> = {x64: 'x86_64', arm64: 'aarch64'}

const architectureOf = ({arch}: HostFacts): string => architectures[arch] ?? arch

/** Vendor and system, as compilers name them. */
const systems: Readonly<Record<string, string>> = {
  linux: 'unknown-linux',
  darwin: 'apple-darwin',
  win32: 'pc-windows',
  freebsd: 'unknown-freebsd',
}

/** `x86_64-unknown-linux`. Which C library a system has is not reported: no program of the mesh depends on it. */
export const hostTriple = (host: HostFacts, platform: string): string =>
  `${architectureOf(host)}-${systems[platform] ?? `unknown-${platform}`}`

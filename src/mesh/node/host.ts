import os from 'node:os'
import {meshSettings, resolveSettings, type SettingSources, type SettingValues} from '../../config/index.js'
import {knownGpus} from './gpu-probe.js'

/** Description of a machine. Accelerators are advertised by environment variables. */
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
  /** Number of threads that can run in parallel. */
  parallelism: number
  /** As in `process.arch`. */
  arch: string
  hostname: string
  /** Memory of the largest GPU, MiB; undefined if it was not queried. */
  vramMb?: number | undefined
}

export const readHost = (): HostFacts => ({
  vramMb: knownGpus()?.vramMb,
  parallelism: os.availableParallelism(),
  arch: process.arch,
  hostname: os.hostname(),
})

type Environment = SettingSources['env']

/** Describes the machine, with accelerators from the environment only. */
export const probeHost = (env: Environment, host: HostFacts): HostProbe =>
  describeHost(resolveSettings(meshSettings, {env}).values, env, host)

/** Describes the machine, with accelerators from resolved settings. */
export function describeHost(
  advertised: SettingValues<(typeof meshSettings)['rows']>,
  env: Environment,
  host: HostFacts,
): HostProbe {
  const hostname = variable(env, 'HOSTNAME') || variable(env, 'COMPUTERNAME') || host.hostname.trim()
  const arch = architectureOf(host)
  return {
    ...(host.parallelism > 0 ? {cpu_cores: host.parallelism, min_cpu_cores: host.parallelism} : {}),
    ...(host.vramMb === undefined ? {} : {min_vram_mb: host.vramMb}),
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

/** Architecture names of the protocol that differ from those of Node.js. */
const architectures: Readonly<Record<string, string>> = {x64: 'x86_64', arm64: 'aarch64'}

const architectureOf = ({arch}: HostFacts): string => architectures[arch] ?? arch

/** Vendor and system of a target triple. */
const systems: Readonly<Record<string, string>> = {
  linux: 'unknown-linux',
  darwin: 'apple-darwin',
  win32: 'pc-windows',
  freebsd: 'unknown-freebsd',
}

/** Target triple such as `x86_64-unknown-linux`, without the C library, which is irrelevant for the mesh. */
export const hostTriple = (host: HostFacts, platform: string): string =>
  `${architectureOf(host)}-${systems[platform] ?? `unknown-${platform}`}`

import {settings} from '../setting.js'
import {path} from '../types.js'

/** Connections to other machines. */
export const networkSettings = settings('network', () => ({
  tlsCaFile: {
    type: path(),
    env: ['SVC_TLS_CA_FILE'],
    toml: ['network.tls_ca_file'],
    doc: 'PEM file of certificate authorities to trust in addition to those of Node.js.',
  },
}))

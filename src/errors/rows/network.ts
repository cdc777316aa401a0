import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

export const networkErrors = rows(() => ({
  port_in_use: unavailable({
    http: 500,
    message: (p: {host: string; port: number}) => `Another process listens on ${p.host}:${p.port} already.`,
    hint: (p: {port: number}) =>
      `Stop that process, or choose another port, for example --port ${p.port < 65_535 ? p.port + 1 : p.port - 1}.`,
  }),
  address_unavailable: usage({
    http: 500,
    message: (p: {host: string; port: number; reason: string}) => `Cannot listen on ${p.host}:${p.port}: ${p.reason}.`,
    hint: 'Give an address of this machine, for example --host 127.0.0.1.',
  }),
  tls_unusable: usage({
    http: 500,
    message: (p: {reason: string}) => `The certificate and its key cannot be used: ${p.reason}.`,
    hint: 'Give a chain of certificates and the private key of the first, both in PEM.',
  }),
  tls_ca_unusable: usage({
    http: 500,
    message: (p: {path: string; reason: string}) => `Cannot read certificates from ${p.path}: ${p.reason}.`,
    hint: 'Set SVC_TLS_CA_FILE to a file with the certificate of an authority in PEM.',
  }),
  certificate_untrusted: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `Cannot trust the certificate of ${p.url}: ${p.reason}.`,
    hint: 'Set SVC_TLS_CA_FILE to the PEM file of the certificate authority that issued it.',
  }),
  unreachable: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `Cannot reach ${p.url}: ${p.reason}.`,
    hint: 'Check that the server runs and that the address is right.',
  }),
  timeout: unavailable({
    http: 504,
    message: (p: {url: string; ms: number}) => `${p.url} did not answer within ${p.ms} ms.`,
    hint: 'Try again, or allow more time.',
  }),
  http_status: failed({
    http: 502,
    message: (p: {url: string; status: number; detail?: string | undefined}) =>
      `${p.url} answered ${p.status}${p.detail ? `: ${p.detail}` : ''}.`,
    hint: 'The status and the sentence come from the server; its log may say more.',
  }),
  response_too_large: failed({
    http: 502,
    message: (p: {url: string; limit: number}) => `The answer of ${p.url} is larger than ${p.limit} bytes.`,
    hint: 'Ask for less at a time.',
  }),
  bad_request: usage({
    message: (p: {reason: string; param?: string | undefined}) => p.reason,
    hint: 'Change the request and send it again.',
    param: (p: {param?: string | undefined}) => p.param ?? '',
  }),
  unsupported_value: usage({
    openai: 'unsupported_value',
    message: (p: {reason: string; param?: string | undefined}) => p.reason,
    hint: 'Leave the field out, or give it a value that this server supports.',
    param: (p: {param?: string | undefined}) => p.param ?? '',
  }),
  invalid_json: usage({
    openai: 'invalid_json',
    message: (p: {reason: string}) => `The request body is not valid JSON: ${p.reason}.`,
    hint: 'Send one JSON value as the body.',
  }),
  body_missing: usage({
    message: () => 'missing request body',
    hint: 'Send one JSON value as the body.',
  }),
  body_too_large: usage({
    http: 413,
    openai: 'request_too_large',
    message: (p: {limit: number}) => `The request body is larger than ${p.limit} bytes.`,
    hint: 'Send a smaller body.',
  }),
  media_type_unsupported: usage({
    http: 415,
    message: () => 'The request body is not sent as JSON.',
    hint: 'Send the header content-type: application/json.',
  }),
  unauthorized: conflict({
    http: 401,
    openai: 'invalid_api_key',
    message: () => 'The request carries no valid token.',
    hint: 'Send the header Authorization: Bearer TOKEN.',
  }),
  origin_forbidden: conflict({
    http: 403,
    message: (p: {origin: string}) => `Pages of ${p.origin} may not use this server.`,
    hint: 'Allow the origin with --origins when the server is started.',
  }),
  host_forbidden: conflict({
    http: 403,
    message: (p: {host: string}) => `Requests for the host "${p.host}" are refused here.`,
    hint: 'Use the loopback address that the server printed when it started, or name the host in svc serve --allowed-hosts.',
  }),
  route_unknown: notFound({
    openai: 'unknown_url',
    message: (p: {method: string; path: string}) => `There is no route ${p.method} ${p.path}.`,
    hint: 'Check the method and the path.',
  }),
  method_not_allowed: usage({
    http: 405,
    openai: 'method_not_allowed',
    message: (p: {method: string; path: string; allowed: readonly string[]}) =>
      `${p.path} does not take ${p.method}; it takes ${p.allowed.join(', ')}.`,
    hint: 'Use one of the allowed methods.',
  }),
  not_implemented: failed({
    http: 501,
    openai: 'not_implemented',
    message: (p: {what: string}) => `${p.what} not implemented by this server`,
    hint: 'Use a server that offers it.',
  }),
  rate_limited: unavailable({
    http: 429,
    message: (p: {limit: number; within: 'second' | 'minute'}) =>
      `More than ${p.limit} requests came within a ${p.within}.`,
    hint: 'Wait as long as Retry-After says, then send the request again.',
  }),
  overloaded: unavailable({
    openai: 'overloaded',
    message: (p: {reason: string}) => p.reason,
    hint: 'Wait as long as Retry-After says, then send the request again.',
  }),
}))

import {counted} from '../counted.js'
import {conflict, failed, notFound, rows, size, unavailable, usage} from '../row.js'

export const networkErrors = rows(() => ({
  port_in_use: unavailable({
    http: 500,
    message: (p: {host: string; port: number}) => `Another process is already listening on ${p.host}:${p.port}.`,
    hint: (p: {port: number}) =>
      `Stop that process, or choose another port, for example --port ${p.port < 65_535 ? p.port + 1 : p.port - 1}.`,
  }),
  serve_unprotected: usage({
    http: 500,
    message: (p: {host: string; variable: string}) =>
      `Listening on ${p.host} lets other machines use the model and requires an API key in ${p.variable}.`,
    hint: (p: {variable: string}) =>
      `Set ${p.variable} to a secret, which clients send as a bearer token, listen on 127.0.0.1, or pass --insecure.`,
  }),
  address_unavailable: usage({
    http: 500,
    message: (p: {host: string; port: number; reason: string}) => `Cannot listen on ${p.host}:${p.port}: ${p.reason}.`,
    hint: 'Use an address of this machine, for example --host 127.0.0.1.',
  }),
  tls_unusable: usage({
    http: 500,
    message: (p: {reason: string}) => `Cannot use the TLS certificate and its key: ${p.reason}.`,
    hint: 'Set the files of a certificate chain and of the private key of its first certificate, both in PEM.',
  }),
  tls_ca_unusable: usage({
    http: 500,
    message: (p: {path: string; reason: string}) => `Cannot read certificates from ${p.path}: ${p.reason}.`,
    hint: 'Set SVC_TLS_CA_FILE to a PEM file with the certificate of the certificate authority (CA).',
  }),
  certificate_untrusted: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `The certificate of ${p.url} is not trusted: ${p.reason}.`,
    hint: 'Set SVC_TLS_CA_FILE to the PEM file of the certificate authority that issued the certificate.',
  }),
  unreachable: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `Cannot reach ${p.url}: ${p.reason}.`,
    hint: 'Check that the server is running and that its address is correct.',
  }),
  timeout: unavailable({
    http: 504,
    message: (p: {url: string; ms: number}) => `${p.url} did not respond within ${p.ms} ms.`,
    hint: 'Check that the server is not overloaded, then try again, with a longer --timeout if the command has one.',
  }),
  http_status: failed({
    http: 502,
    message: (p: {url: string; status: number; detail?: string | undefined}) =>
      `${p.url} responded with status ${p.status}${p.detail ? `: ${p.detail}` : ''}.`,
    hint: 'Check the URL and the log of the server.',
  }),
  response_too_large: failed({
    http: 502,
    message: (p: {url: string; limit: number}) => `The response of ${p.url} is larger than ${size(p.limit)}.`,
    hint: 'Request less data at a time, for example with --limit or --max.',
  }),
  bad_request: usage({
    openai: (p: {openai?: string | undefined}) => p.openai,
    message: (p: {reason: string; param?: string | undefined; openai?: string | undefined}) => p.reason,
    hint: 'Correct the request, then send it again.',
    param: (p: {param?: string | undefined}) => p.param ?? '',
  }),
  unsupported_value: usage({
    openai: 'unsupported_value',
    message: (p: {reason: string; param?: string | undefined}) => p.reason,
    hint: 'Omit the field, or use a value that this server supports.',
    param: (p: {param?: string | undefined}) => p.param ?? '',
  }),
  invalid_json: usage({
    openai: 'invalid_json',
    message: (p: {reason: string}) => `The request body is not valid JSON: ${p.reason}.`,
    hint: 'Send a JSON body.',
  }),
  body_missing: usage({
    message: () => 'missing request body',
    hint: 'Send a JSON body.',
  }),
  request_timeout: usage({
    http: 408,
    message: () => 'The request did not arrive completely in time.',
    hint: 'Send the request again, over a faster connection.',
  }),
  headers_too_large: usage({
    http: 431,
    message: (p: {limit: number}) => `The URL and the headers of the request exceed ${size(p.limit)}.`,
    hint: 'Send a shorter URL and fewer headers; a query of a program also takes its arguments in the body of a POST.',
  }),
  body_too_large: usage({
    http: 413,
    openai: 'request_too_large',
    message: (p: {limit: number}) => `The request body exceeds ${size(p.limit)}.`,
    hint: 'Send a smaller body.',
  }),
  media_type_unsupported: usage({
    http: 415,
    message: (p: {encoding?: string | undefined}) =>
      p.encoding === undefined
        ? 'The content type of the request body is not application/json.'
        : `The request body is encoded with ${p.encoding}.`,
    hint: 'Send the header content-type: application/json, and an uncompressed body.',
  }),
  unauthorized: conflict({
    http: 401,
    openai: 'invalid_api_key',
    message: () => 'The request has no valid token.',
    hint: 'Send the header Authorization: Bearer TOKEN; model servers also accept x-api-key.',
  }),
  origin_forbidden: conflict({
    http: 403,
    message: (p: {origin: string}) => `Requests from the origin ${p.origin} are not allowed.`,
    hint: 'Use a page of this machine; a model server also accepts the origins of --origins.',
  }),
  host_forbidden: conflict({
    http: 403,
    message: (p: {host: string; remedy: string}) => `Requests for the host "${p.host}" are not allowed.`,
    hint: (p) => `Use the loopback address that the server printed, or ${p.remedy}.`,
  }),
  route_unknown: notFound({
    openai: 'unknown_url',
    message: (p: {method: string; path: string}) => `Unknown route ${p.method} ${p.path}.`,
    hint: 'Check the method and the path.',
  }),
  method_not_allowed: usage({
    http: 405,
    openai: 'method_not_allowed',
    message: (p: {method: string; path: string; allowed: readonly string[]}) =>
      `${p.path} does not accept ${p.method}; it accepts ${p.allowed.join(', ')}.`,
    hint: 'Use one of the accepted methods.',
  }),
  not_implemented: failed({
    http: 501,
    openai: 'not_implemented',
    message: (p: {what: string}) => `${p.what} not implemented by this server`,
    hint: 'Use a server that implements this route.',
  }),
  rate_limited: unavailable({
    http: 429,
    openai: 'rate_limit_exceeded',
    message: (p: {limit: number; within: 'second' | 'minute'}) =>
      `More than ${counted(p.limit, 'request')} arrived within a ${p.within}.`,
    hint: 'Wait for the time in Retry-After, then send the request again.',
  }),
  token_budget_exhausted: unavailable({
    http: 429,
    openai: 'rate_limit_exceeded',
    message: (p: {limit: number}) => `The budget of this API key, ${counted(p.limit, 'token')} per minute, is used up.`,
    hint: 'Wait for the time in Retry-After, then send the request again.',
  }),
  api_keys_invalid: usage({
    message: (p: {path: string; reason: string}) => `The file of API keys ${p.path} cannot be used: ${p.reason}.`,
    hint: 'Write a table [keys.NAME] with a key for each client, in a file that only you can read.',
  }),
  overloaded: unavailable({
    openai: 'overloaded',
    message: (p: {reason: string}) => p.reason,
    hint: 'Wait for the time in Retry-After, then send the request again.',
  }),
}))

import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

export const hubErrors = rows(() => ({
  model_id_invalid: usage({
    message: (p: {id: string}) => `${p.id} is neither a directory nor a model id.`,
    hint: 'Pass the path of a model, or an id such as openai/whisper-tiny.en.',
  }),
  hub_model_unknown: notFound({
    message: (p: {id: string; endpoint: string}) => `${p.endpoint} has no model ${p.id}.`,
    hint: 'Check the id (owner/name). A private model needs a token in HF_TOKEN.',
  }),
  hub_revision_unknown: notFound({
    message: (p: {id: string; revision: string}) => `The model ${p.id} has no revision ${p.revision}.`,
    hint: 'Pass a branch, tag or commit of the model, or omit --revision.',
  }),
  hub_files_missing: notFound({
    message: (p: {id: string}) => `The model ${p.id} has no weights in a supported format.`,
    hint: 'Choose a model with safetensors or ONNX files.',
  }),
  hub_access_denied: conflict({
    http: 403,
    message: (p: {id: string; status: number; tokenSent: boolean}) =>
      `The hub denied access to ${p.id} (status ${p.status}, ${p.tokenSent ? 'with a token' : 'without a token'}).`,
    hint: "Check the id, accept the conditions on the model's page, and set HF_TOKEN to a token with access.",
  }),
  hub_unreachable: unavailable({
    message: (p: {endpoint: string; reason: string}) => `Cannot reach the hub at ${p.endpoint}: ${p.reason}.`,
    hint: 'Retry later. The download resumes from where it stopped.',
  }),
  hub_failed: unavailable({
    http: 502,
    message: (p: {endpoint: string; status: number}) => `The hub at ${p.endpoint} answered with status ${p.status}.`,
    hint: 'Retry later. The download resumes from where it stopped.',
  }),
  hub_answer_invalid: failed({
    http: 502,
    message: (p: {endpoint: string; reason: string}) =>
      `The hub at ${p.endpoint} sent an invalid response: ${p.reason}.`,
    hint: 'Check that HF_ENDPOINT is the address of a Hugging Face hub.',
  }),
  hub_offline: unavailable({
    message: (p: {id: string}) => `The model ${p.id} is not in the local cache, and downloads are disabled.`,
    hint: 'Omit --offline, and unset SVC_SPEECH_OFFLINE and HF_HUB_OFFLINE, to download it.',
  }),
  checksum_mismatch: failed({
    http: 502,
    message: (p: {file: string; expected: string; actual: string}) =>
      `The download of ${p.file} is corrupt: its checksum is ${p.actual}, not ${p.expected}.`,
    hint: 'Retry. If it happens again, check whether a proxy modifies files.',
  }),
}))

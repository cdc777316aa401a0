import {command} from '../command.js'
import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

export const hubErrors = rows(() => ({
  model_id_invalid: usage({
    message: (p: {id: string}) => `${p.id} is not a valid model id.`,
    hint: 'Use an id of the form OWNER/NAME, such as openai/whisper-tiny.en, or a Whisper size, such as base.en.',
  }),
  hub_model_unknown: notFound({
    message: (p: {id: string; endpoint: string}) => `Model ${p.id} does not exist on ${p.endpoint}.`,
    hint: ({id}: {id: string}) =>
      id.includes('/')
        ? 'Check the spelling of the id, or set HF_TOKEN if the model is private.'
        : 'Name the model as OWNER/NAME; one that Ollama has downloaded is used as ollama:NAME.',
  }),
  hub_revision_unknown: notFound({
    message: (p: {id: string; revision: string}) => `The model ${p.id} has no revision ${p.revision}.`,
    hint: 'Use a branch, tag or commit of the model, or omit --revision.',
  }),
  hub_files_missing: notFound({
    message: (p: {id: string}) => `The model ${p.id} has no weights in a supported format.`,
    hint: 'Choose a model with safetensors or ONNX files.',
  }),
  hub_file_unknown: notFound({
    message: (p: {id: string; file: string; suggestion?: string | undefined}) =>
      `The model ${p.id} has no file ${p.file}${p.suggestion === undefined ? '' : `; did you mean ${p.suggestion}?`}`,
    hint: 'Check the list of files on the page of the model.',
  }),
  hub_access_denied: conflict({
    http: 403,
    message: (p: {id: string; status: number; tokenSent: boolean}) =>
      `Hugging Face denied access to ${p.id} (status ${p.status}); ${p.tokenSent ? 'the token does not grant access' : 'no token was sent'}.`,
    hint: 'Accept the conditions on the model page, and set HF_TOKEN to a token that can read it.',
  }),
  hub_unreachable: unavailable({
    message: (p: {endpoint: string; reason: string}) => `Cannot download from ${p.endpoint}: ${p.reason}.`,
    hint: 'Check the network and proxy settings, then run the command again; the download resumes where it stopped.',
  }),
  hub_failed: unavailable({
    http: 502,
    message: (p: {endpoint: string; status: number}) => `${p.endpoint} responded with status ${p.status}.`,
    hint: 'Run the command again later; the download resumes where it stopped.',
  }),
  hub_answer_invalid: failed({
    http: 502,
    message: (p: {endpoint: string; reason: string}) => `${p.endpoint} sent an invalid response: ${p.reason}.`,
    hint: 'Set HF_ENDPOINT to the address of a Hugging Face mirror, or unset it.',
  }),
  hub_offline: unavailable({
    message: (p: {id: string; by: readonly string[]}) =>
      `The model ${p.id} is not in the local cache, and ${p.by.join(' and ')} disable${p.by.length === 1 ? 's' : ''} downloads.`,
    hint: (p: {id: string; by: readonly string[]}) => {
      const settings = p.by.filter((name) => !name.startsWith('--'))
      const pull = command`svc pull ${p.id}`
      return settings.length === 0 ? `Run ${pull}.` : `Unset ${settings.join(' and ')}, then run ${pull}.`
    },
  }),
  model_in_use: conflict({
    message: (p: {model: string; users: string}) => `${p.model} is in use by ${p.users}.`,
    hint: 'Stop the process, then run the command again.',
  }),
  model_not_downloaded: usage({
    message: (p: {path: string}) => `${p.path} was not downloaded by svc.`,
    hint: 'Delete the files themselves, if they are not needed any more.',
  }),
  checksum_mismatch: failed({
    http: 502,
    message: (p: {file: string; expected: string; actual: string}) =>
      `The download of ${p.file} is corrupt: expected ${p.expected}, got ${p.actual}.`,
    hint: 'Run the command again; if the error persists, check whether a proxy changes files.',
  }),
}))

/** What the control plane answers where it refuses: problem details of RFC 9457. */
export interface Problem {
  type: string
  title: string
  status: number
  code: string
  detail: string
  hint?: string
  request_id?: string
}

/** Progress of the download of one file. */
export interface DownloadProgress {
  file: string
  /** `sha256:HEX` or `git-sha1:HEX`, if the hub reports it. */
  digest: string | undefined
  completedBytes: number
  /** Undefined if the hub does not report it. */
  totalBytes: number | undefined
}

/** What clients may do with the downloaded models of this machine. */
export interface ModelManagement {
  /** Downloads a model. @throws what `pullModel` throws */
  pull(name: string, onProgress: (progress: DownloadProgress) => void, signal: AbortSignal): Promise<void>
  /**
   * Deletes a downloaded model.
   * @param isUsed whether this process uses a directory
   * @throws model_in_use, model_not_found, model_not_downloaded
   */
  remove(name: string, isUsed: (folder: string) => boolean): Promise<void>
}

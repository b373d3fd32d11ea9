public import Files
public import Takes

// The bin as seen by other programs than the recorder.
extension TakesFolder {
    /// The takes in the bin, the oldest first. A take that is being moved is included when its day's folder does not
    /// have it any more.
    /// - Throws: `FileError` if the bin exists and cannot be read.
    public func binnedTakes() throws(FileError) -> [TakesBin.Item] {
        let bin = "\(path)/\(TakesBin.folderName)"
        var items: [TakesBin.Item] = []
        for (take, names) in try TakesDirectory.binned(in: path, files: files, unreadable: { _, _ in }) {
            let documents = TakeSite.ofBin.map { $0.name(stem: take.stem) }
            let isWithoutSidecar = TakesBin.isWithoutSidecar(take, names)
            guard
                isWithoutSidecar || names.contains(TakeDocument.binnedSidecar.name(stem: take.stem)),
                isWithoutSidecar || (try? files.identity(sidecarPath(of: take))) == nil
                    || names.contains(where: { !documents.contains($0) })
            else { continue }
            let folder = "\(bin)/\(take.day)"
            let note =
                (try? files.takeFileContents(
                    "\(folder)/\(TakeDocument.binNote.name(stem: take.stem))", limit: 4096))
                .flatMap { BinNote($0) }
            let bytes = names.reduce(Int64(0)) { sum, name in
                sum + ((try? files.takeFileAttributes("\(folder)/\(name)"))?.byteCount ?? 0)
            }
            let putBack = (try? files.ownFiles(of: take, in: self.folder(of: take))) ?? []
            items.append(
                TakesBin.Item(
                    take: take, byteCount: bytes, binned: note?.binned, since: note?.since ?? .max, putBack: putBack,
                    hasSidecar: !isWithoutSidecar))
        }
        return items.sorted { ($0.since, $0.take) < ($1.since, $1.take) }
    }

    /// The sidecar of a take in the bin.
    /// - Throws: `FileError` or `SidecarError`.
    public func binnedSidecar(of take: TakeName) throws -> Sidecar {
        try TakesFolder(path: "\(path)/\(TakesBin.folderName)", files: files).sidecar(of: take)
    }
}

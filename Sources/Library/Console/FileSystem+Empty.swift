import Files

extension FileSystem {
    /// Creates a folder for this user alone, or empties the existing one.
    func makeEmptyFolder(_ path: String) throws(FileError) {
        if (try? attributes(path)) == nil { _ = try makeFolder(path, mode: 0o700) }
        try removeContents(of: path)
    }

    private func removeContents(of folder: String) throws(FileError) {
        for name in try entries(folder) {
            let path = "\(folder)/\(name)"
            if (try? openFolder(path, followsLink: false)) != nil {
                try removeContents(of: path)
                try removeFolder(path)
            } else {
                try remove(path)
            }
        }
    }
}

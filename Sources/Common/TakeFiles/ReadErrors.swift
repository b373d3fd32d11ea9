import Files
import Takes

/// Read errors that do not stop the work, each reported once. May be used by any thread.
final class ReadErrors: Sendable {
    private let known = Locked<(all: Set<FileError>, news: [FileError])>(([], []))

    func note(_ errors: [FileError]) {
        known.withLock { known in
            for error in errors where known.all.insert(error).inserted { known.news.append(error) }
        }
    }

    /// The errors that were not returned yet.
    func takeNews() -> [FileError] {
        known.withLock { known in
            defer { known.news = [] }
            return known.news
        }
    }
}

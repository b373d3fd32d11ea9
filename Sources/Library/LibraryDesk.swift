public import Control
public import Logging
public import Settings
public import Takes
public import Transport

/// Where other services of the same process ask the library. May be used by any thread.
public struct LibraryDesk: Sendable {
    /// Of the kit.
    public let settings: Settings
    /// The library's.
    public let log: Logger
    private let requests: LibraryRequests
    private let remote: RemoteDesk

    init(settings: Settings, log: Logger, requests: LibraryRequests, remote: RemoteDesk) {
        self.settings = settings
        self.log = log
        self.requests = requests
        self.remote = remote
    }

    /// Carries out a request, as the library's socket does. It may wait for the disk.
    /// - Returns: the object of the reply.
    /// - Throws: `Refusal`; what concerns stores (`remote`) is refused.
    public func answer(_ message: LibraryMessage) throws(Refusal) -> any Encodable & Sendable {
        try requests.answer(message)
    }

    /// A take. It may wait for the disk.
    /// - Parameter name: of the request, for the sentence of a refusal.
    public func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try requests.take(stem, for: name)
    }

    /// Deletes all files of a take from every store that has any of them. The take is not sent again.
    /// - Throws: `Refusal`, such as for a store that is away; then some files may be left there.
    public func deleteEverywhere(_ take: TakeName) async throws(Refusal) {
        try await remote.deleteEverywhere(take)
    }
}

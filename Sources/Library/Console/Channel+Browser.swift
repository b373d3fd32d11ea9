import NIOCore

extension Channel {
    /// Ends work for a browser that is gone. SwiftNIO closes the connection then; nobody cancels the handler's task.
    /// - Throws: `CancellationError`.
    func checkBrowser() throws(CancellationError) {
        guard isActive else { throw CancellationError() }
    }
}

import Transport
import Upload

extension Refusal {
    /// Converts the error of a request to the stores.
    init(remote error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as StoreError: self.init(.store(error.code, message: error.sentence))
        default: self.init(.io, "remote: \(error)")
        }
    }
}

extension StoreError {
    fileprivate var code: Refusal.Code {
        switch problem {
        case .away, .busy, .unadopted: .busy
        case .refused, .hidden: .denied
        case .missing: .notFound
        case .full, .conflict, .rejected, .damaged, .unreadable: .io
        }
    }

    /// Whether this error leaves unknown what the store has. That is so if a server refuses a key, a permission or a
    /// bucket. A folder that refuses access no longer counts as having the take.
    func leavesOpen(of store: any Store) -> Bool {
        switch problem {
        case .away, .busy, .hidden, .unreadable: true
        case .refused: !store.traits.isFolder
        case .missing, .full, .conflict, .rejected, .damaged, .unadopted: false
        }
    }

    /// Whether the error is temporary and shows nothing about the store's files.
    var isPassing: Bool {
        switch problem {
        case .away, .busy, .unadopted: true
        case .refused, .hidden, .missing, .full, .conflict, .rejected, .damaged, .unreadable: false
        }
    }
}

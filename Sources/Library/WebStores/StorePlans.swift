public import Settings
public import Upload

extension StorePlan {
    /// The plan of any kind of store, including those on the web; nil if `kind` is not a store.
    public static func plan(
        _ kind: Settings.Outbox.Store, _ settings: Settings, _ context: StoreContext
    ) -> StorePlan? {
        let outbox = settings.outbox
        if let unclear = outbox.unclear[kind] {
            // A key that is not understood may be the destination. The default could be another's store.
            return StorePlan(name: kind.rawValue) {
                throw StoreError(.refused, "outbox: \(unclear): nothing is sent there before that is corrected")
            }
        }
        if let plan = StorePlan(kind, settings, context) { return plan }
        switch kind {
        case .s3:
            let address = try? S3Address(outbox.s3)
            return StorePlan(
                name: address.map { S3Store.name(of: $0, prefix: outbox.s3.prefix) } ?? kind.rawValue,
                needsClock: address?.server.hasPrefix("https:") ?? false
            ) {
                try S3Store(
                    outbox.s3, web: Web(authorities: outbox.authorities), resume: context.resume, kit: context.kit)
            }
        case .firebase:
            let firebase = outbox.firebase
            return StorePlan(
                name: FirebaseStore.name(of: firebase), needsClock: firebase.endpoint.hasPrefix("https:")
            ) {
                try FirebaseStore(firebase, web: Web(authorities: outbox.authorities), resume: context.resume)
            }
        case .webdav:
            let address = try? WebDAVAddress(outbox.webdav)
            return StorePlan(
                name: address.map(WebDAVStore.name) ?? kind.rawValue, needsClock: address?.isEncrypted ?? false
            ) {
                try WebDAVStore(
                    outbox.webdav, web: Web(authorities: outbox.authorities), resume: context.resume, kit: context.kit)
            }
        case .automatic, .folder, .rclone, .sftp, .nowhere: return nil
        }
    }
}

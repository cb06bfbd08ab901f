import java.io.FileInputStream;
import java.io.PrintStream;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.security.auth.x500.X500Principal;

/** Prints the issuer of a certificate in each form that Java knows, after the name of the form and a tab. */
class Issuers {
    public static void main(String[] files) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        for (String file : files) {
            X509Certificate certificate = (X509Certificate) factory.generateCertificate(new FileInputStream(file));
            X500Principal issuer = certificate.getIssuerX500Principal();
            for (String form : new String[] {X500Principal.RFC2253, X500Principal.RFC1779, X500Principal.CANONICAL}) {
                out.println(form + "\t" + issuer.getName(form));
            }
            out.println("toString\t" + issuer);
        }
    }
}
